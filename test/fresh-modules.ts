/**
 * Files of tests share a process, since to start one for each file is most of the work of a small
 * file. None of them sees what another left in a module: counted metrics, say. Each loads the
 * modules anew.
 */
import { vi } from 'vitest';

vi.resetModules();
