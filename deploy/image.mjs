// Puts into a folder what the image of one service holds. The Dockerfile runs this, and so does the
// test of the images. Plain JavaScript without dependencies. Run `deploy/setup.mjs` first.
//
//   node deploy/image.mjs SERVICE FOLDER
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, install, layOut, stop } from './layout.mjs';

const [service, target] = process.argv.slice(2);
if (service === undefined || target === undefined) stop('usage: image.mjs SERVICE FOLDER');

layOut([service], target);
install([service], target);
// Every image has its service at the same path, so that the same command starts each.
symlinkSync(folderOf(service), join(target, 'service'));
