import { factorStoreContract } from '@freshet/testkit';
import { MemoryStore } from './memory-store.ts';

factorStoreContract('the memory store', async () => new MemoryStore());
