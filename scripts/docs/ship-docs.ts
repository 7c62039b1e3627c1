/** Writes the docs that packages ship. Without arguments for all packages, else for the given folders. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findPages, root } from '../../docs/test/pages.ts'
import { packageFolder, writePackageDocs } from './package-docs.ts'

const names = process.argv.slice(2)
const folders =
  names.length > 0
    ? names.map(packageFolder)
    : readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))
const pages = findPages()
for (const folder of folders) writePackageDocs(folder, pages)
