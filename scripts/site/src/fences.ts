/**
 * The docs' fences, for readers. In the repository, code that a sample needs stands in a comment before its fence, and a
 * fence can continue the one before it; docs/test/snippets.test.ts compiles and runs them together. Here, each fence gets
 * all of its program, so that a reader who copies it can run it.
 */

/** Makes each fence a whole program. The first lines are marked as `hidden=<count>`: the site folds them. */
export function completeFences(lines: readonly string[]): string[] {
  return readFences(lines, (lang, hidden, shown) => [
    hidden.length === 0 ? `\`\`\`${lang}` : `\`\`\`${lang} hidden=${hidden.length}`,
    ...hidden,
    ...shown,
    '```',
  ])
}

/** For plain text: a fence shows its setup, and one that continues a program says so. */
export function plainFences(lines: readonly string[]): string[] {
  return readFences(lines, (lang, hidden, shown, continues) => {
    const before = continues ? ['// Continues the program above.'] : hidden
    return [`\`\`\`${lang}`, ...before, ...shown, '```']
  })
}

type Write = (lang: string, hidden: readonly string[], shown: readonly string[], continues: boolean) => string[]

function readFences(lines: readonly string[], write: Write): string[] {
  const out: string[] = []
  let setup: string[] = []
  let program: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const [, lang, meta = ''] = /^```(\w+) ?(.*)$/.exec(line) ?? []
    if (line === '<!-- setup') {
      const end = lines.indexOf('-->', at)
      setup = trimBlank(lines.slice(at + 1, end))
      at = lines[end + 1] === '' ? end + 1 : end
    } else if (lang === undefined) out.push(line)
    else {
      const end = lines.indexOf('```', at + 1)
      const shown = lines.slice(at + 1, end)
      at = end
      if (lang !== 'ts' && lang !== 'tsx') out.push(`\`\`\`${lang}`, ...shown, '```')
      else {
        const hidden = meta === 'continues' ? [...program, ...setup] : setup
        out.push(...write(lang, hidden, shown, meta === 'continues'))
        program = [...hidden, ...shown]
        setup = []
      }
    }
  }
  return out
}

function trimBlank(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return lines.slice(first, last + 1)
}

/** Maps the text between fences, a block of lines at a time: a link can span lines. */
export function mapProse(lines: readonly string[], map: (text: string) => string): string[] {
  const blocks: { fenced: boolean; lines: string[] }[] = [{ fenced: false, lines: [] }]
  for (const line of lines) {
    const block = blocks.at(-1) as (typeof blocks)[number]
    if (!line.startsWith('```')) block.lines.push(line)
    else if (!block.fenced) blocks.push({ fenced: true, lines: [line] })
    else {
      block.lines.push(line)
      blocks.push({ fenced: false, lines: [] })
    }
  }
  return blocks.flatMap((block) => {
    if (block.fenced || block.lines.length === 0) return block.lines
    return map(block.lines.join('\n')).split('\n')
  })
}
