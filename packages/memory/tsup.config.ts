import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

// Each file is loaded at a cost of a millisecond, so the second entry has its own copy of what it shares.
export default defineConfig({
  ...base,
  entry: [
    'src/index.ts',
    'src/documents/index.ts',
    'src/explain/index.ts',
    'src/late.ts',
    'src/recall/index.ts',
    'src/reindex/index.ts',
    'src/session-storage.ts',
    'src/stored-conversation.ts',
    'src/working/index.ts',
  ],
  splitting: false,
  // Not copies: they load later.
  external: ['@allium/memory/late', '@allium/memory/stored-conversation'],
})
