import { filesIn, StoredFile } from '@allium/store'
import type { Fault } from './fault.ts'

/** Faults of stores that read parts of a session. */
export const historyFaults: readonly Fault[] = [
  [
    'has no rest but that of the last run',
    (store) => ({ head: (key) => store.head(key) }),
    'returns the rest of a session without its messages, also after an earlier run',
  ],
  [
    'has no page but the last',
    (store) => ({ history: (key, { limit }) => store.history(key, { before: Number.MAX_SAFE_INTEGER, limit }) }),
    'returns a page of the history that ends at any message, as the last run left it',
  ],
  [
    'reads the files of a page at once',
    (store) => ({
      history: async (key, page) => {
        const turns = await store.history(key, page)
        for (const file of turns.flatMap(({ messages }) => messages.flatMap(({ content }) => filesIn(content))))
          if (file.data instanceof StoredFile) file.data = await file.data.read()
        return turns
      },
    }),
    'reads an image of a page on demand, and everything else unchanged',
  ],
]
