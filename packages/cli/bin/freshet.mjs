#!/usr/bin/env node
// A file that is there before the build: npm and pnpm link commands when they install.
import '../dist/main.js';
