/** Writes the pages of the repository to scripts/site/.pages, as VitePress reads them. The API pages of typedoc stay. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../../../docs/test/pages.ts'
import { completeFences } from './fences.ts'
import { homePage } from './home.ts'
import { rewriteLinks } from './links.ts'
import { llmsFull, llmsIndex, plainPage } from './llms.ts'
import { readSections } from './navigation.ts'
import { plainRedirect, readOldAddresses, redirectPage } from './old-addresses.ts'
import { repositoryUrl, sitePages } from './site-pages.ts'

const to = fileURLToPath(new URL('../.pages', import.meta.url))
mkdirSync(to, { recursive: true })
for (const name of readdirSync(to)) if (name !== 'api') rmSync(join(to, name), { recursive: true })

const pages = new Map(sitePages().map((page) => [page.path, page]))
const targets = { pages, repository: repositoryUrl() }
for (const page of pages.values()) {
  const lines = rewriteLinks(completeFences(page.lines), page.path, { ...targets, ending: '' })
  write(page.file, [`---\nsource: ${page.path}\n---`, '', ...lines].join('\n'))
  write(`public/${page.file}`, plainPage(page, targets))
}
for (const address of readOldAddresses(pages)) {
  write(`public/${address.file}.html`, redirectPage(address))
  write(`public/${address.file}.md`, plainRedirect(address))
}

const readme = pages.get('README.md')?.lines ?? []
const sections = readSections(pages.get('docs/README.md')?.lines ?? [], pages)
write('index.md', homePage(readme, targets))
write('public/llms.txt', llmsIndex(readme[2] ?? '', sections))
write('public/llms-full.txt', llmsFull(sections, targets))
cpSync(join(root, 'docs/images'), join(to, 'public/images'), { recursive: true })
console.log(`${pages.size} pages written to scripts/site/.pages`)

function write(file: string, text: string): void {
  mkdirSync(dirname(join(to, file)), { recursive: true })
  writeFileSync(join(to, file), text)
}
