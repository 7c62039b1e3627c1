import type { MarkdownRenderer } from 'vitepress'

const setup = /hidden=(\d+)/

/** Adds a checkbox before each fence that has folded lines. */
export function foldSetup(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, at, ...rest) => {
    const html = fence?.(tokens, at, ...rest) ?? ''
    const [, count] = setup.exec(tokens[at]?.info ?? '') ?? []
    if (count === undefined) return html
    return `<label class="fold"><input type="checkbox">Show the setup of this example (${count} lines)</label>${html}`
  }
}

/** Markdown tables need a head. Cells of it without a text are no headings. */
export function plainEmptyHeads(md: MarkdownRenderer): void {
  const isEmpty = (content: string | undefined) => content?.trim() === ''
  md.renderer.rules.th_open = (tokens, at, options, _, self) =>
    isEmpty(tokens[at + 1]?.content) ? '<td>' : self.renderToken(tokens, at, options)
  md.renderer.rules.th_close = (tokens, at, options, _, self) =>
    isEmpty(tokens[at - 1]?.content) ? '</td>' : self.renderToken(tokens, at, options)
}

interface Element {
  type: 'element'
  tagName: string
  properties: Record<string, unknown>
  children: unknown[]
}

/** Wraps the first lines of a fence, so that the page can fold them. "Copy" takes them along. */
export const setupTransformer = {
  name: 'allium:setup',
  code(this: { options: { meta?: { __raw?: string } } }, node: { children: unknown[] }): void {
    const count = Number(setup.exec(this.options.meta?.__raw ?? '')?.[1] ?? 0)
    if (count === 0) return
    // Each line is an element, followed by its line break.
    const lines: Element = {
      type: 'element',
      tagName: 'span',
      properties: { class: 'setup-lines' },
      children: node.children.splice(0, 2 * count),
    }
    node.children.unshift(lines)
  },
}
