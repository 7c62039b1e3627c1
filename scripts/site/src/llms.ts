import { plainFences } from './fences.ts'
import { type LinkTargets, rewriteLinks } from './links.ts'
import type { Section } from './navigation.ts'
import type { SitePage } from './site-pages.ts'

/** A page as plain Markdown for readers without a browser: no hidden code, links to other plain pages. */
export function plainPage({ lines, path }: SitePage, targets: Omit<LinkTargets, 'ending'>): string {
  return rewriteLinks(plainFences(lines), path, { ...targets, ending: '.md' }).join('\n')
}

/** An index of the pages in the format of https://llmstxt.org. */
export function llmsIndex(summary: string, sections: readonly Section[]): string {
  const lists = sections.map(({ text, items }) => {
    const entries = items.map(({ text, page, about }) => `- [${text}](/${page.file})${about && `: ${unlinked(about)}`}`)
    return `## ${text}\n\n${entries.join('\n')}\n`
  })
  return `# Allium\n\n> ${summary}\n\nAll pages in one file: [llms-full.txt](/llms-full.txt)\n\n${lists.join('\n')}`
}

/** All pages of the sections, each once, in their order. */
export function llmsFull(sections: readonly Section[], targets: Omit<LinkTargets, 'ending'>): string {
  const pages = new Set(sections.flatMap(({ items }) => items.map(({ page }) => page)))
  const inner = [...targets.pages.values()].filter(({ path }) => /^docs\/(guide|concepts|packs)\/.+\//.test(path))
  return [...pages, ...inner.filter((page) => !pages.has(page))]
    .map((page) => plainPage(page, targets))
    .join('\n\n---\n\n')
}

function unlinked(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
}
