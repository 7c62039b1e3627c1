import { defineTool } from 'allium'
import { z } from 'zod'

const pages = {
  public: [
    { page: 'p. 12', text: 'The onion was grown in Egypt five thousand years ago.' },
    { page: 'p. 31', text: 'Allium is the genus of onion, garlic and leek.' },
  ],
  internal: [{ page: 'memo 4', text: 'We have not decided yet whether to print this.' }],
}

/** The model chooses the shelf, and the policy of the newsroom decides whether it may read that shelf. */
export const searchArchive = defineTool({
  name: 'search_archive',
  description: 'Searches a shelf of the archive.',
  schema: z.object({ shelf: z.enum(['public', 'internal']), word: z.string() }),
  execute: ({ shelf, word }) => pages[shelf].filter(({ text }) => text.toLowerCase().includes(word.toLowerCase())),
})
