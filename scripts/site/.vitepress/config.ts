import { type DefaultTheme, defineConfig } from 'vitepress'
import { foldSetup, plainEmptyHeads, setupTransformer } from '../src/markdown.ts'
import { readSections, type Section } from '../src/navigation.ts'
import { readOldHeadings } from '../src/old-addresses.ts'
import { repositoryUrl, sitePages } from '../src/site-pages.ts'

const pages = new Map(sitePages().map((page) => [page.path, page]))
const sections = readSections(pages.get('docs/README.md')?.lines ?? [], pages)
const repository = repositoryUrl()

export default defineConfig({
  title: 'Allium',
  description: 'Onion middleware for AI agents, in TypeScript',
  lang: 'en',
  srcDir: '.pages',
  // The plain copies, for readers without a browser.
  srcExclude: ['public/**'],
  outDir: 'dist',
  cacheDir: '../../.cache/vitepress',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config(md) {
      foldSetup(md)
      plainEmptyHeads(md)
    },
    codeTransformers: [setupTransformer],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    define: { __OLD_HEADINGS__: JSON.stringify(readOldHeadings(pages)) },
    resolve: { conditions: ['@allium/source'] },
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/guide/getting-started' },
      { text: 'Packs', link: '/packs/guard' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [...sections.map(toSidebar), { text: 'API', link: '/api/' }],
    search: { provider: 'local' },
    outline: [2, 3],
    ...(repository !== undefined && {
      socialLinks: [{ icon: 'github' as const, link: repository }],
      editLink: {
        pattern: ({ frontmatter }) => `${repository}/edit/main/${frontmatter.source ?? ''}`,
        text: 'Edit this page',
      },
    }),
  },
})

function toSidebar({ text, items }: Section): DefaultTheme.SidebarItem {
  return { text, items: items.map(({ text, link }) => ({ text, link })) }
}
