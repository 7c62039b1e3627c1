import { writePages } from './pages.ts'

// Builds the pages into a folder, which SAAS_PAGES then names: node src/build-pages.ts dist/pages
const folder = process.argv[2]
if (folder === undefined) throw new Error('No folder was named: node src/build-pages.ts dist/pages')
await writePages(folder)
