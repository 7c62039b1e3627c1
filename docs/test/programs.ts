import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Page, workspaceOf } from './pages.ts'

/** A fence, or a fence and those that continue it, as a file of its own. */
export interface Program {
  /** Where it begins: `docs/concepts/next.md:12`. */
  place: string
  page: string
  /** Its lines stand at the numbers that they have in the page, so that every message tells the right one. */
  file: string
  runs: boolean
  /** What it must print, where the page says so. */
  output: string | undefined
}

interface Draft {
  language: 'ts' | 'tsx'
  line: number
  lines: Map<number, string>
  runs: boolean
  output: string[] | undefined
}

/** The programs of a page, written below `.cache` of the workspace whose packages they import. */
export function writePrograms(page: Page): Program[] {
  return readPrograms(page).map(({ language, line, code, runs, output }) => {
    const file = join(folderOf(page), `${page.path.replaceAll('/', '-')}.${line}.${language === 'tsx' ? 'tsx' : 'mts'}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
    return { place: `${page.path}:${line}`, page: page.path, file, runs, output: output?.join('\n') }
  })
}

/** The programs of a page, with the lines of the page around them as blank lines. */
export function readPrograms(page: Page) {
  return readDrafts(page).map(({ lines, ...draft }) => ({
    ...draft,
    code: page.lines.map((_, at) => lines.get(at) ?? '').join('\n'),
  }))
}

/** Removes what an earlier state of the pages left. */
export function clearPrograms(pages: readonly Page[]): void {
  for (const page of pages) rmSync(folderOf(page), { recursive: true, force: true })
}

function folderOf(page: Page): string {
  return join(workspaceOf(page), '.cache/docs')
}

function readDrafts({ path, lines }: Page): Draft[] {
  const drafts: Draft[] = []
  const setup = new Map<number, string>()
  for (let at = 0; at < lines.length; at++) {
    const [, lang, meta = ''] = /^```(\w+) ?(.*)$/.exec(lines[at] as string) ?? []
    if (lines[at] === '<!-- setup') at = take('-->', setup)
    else if (lang === 'ts' || lang === 'tsx') at = take('```', draftFor(lang, meta.trim(), at))
    else if (lang === 'text' && meta === 'output') at = takeOutput()
    else if (lang !== undefined) at = take('```', new Map())

    function take(end: string, into: Map<number, string>): number {
      let line = at + 1
      for (; lines[line] !== end; line++) {
        if (line >= lines.length) throw new Error(`${path}:${at + 1} has no end: ${end}`)
        into.set(line, lines[line] as string)
      }
      return line
    }
    function takeOutput(): number {
      const draft = drafts.at(-1)
      if (draft === undefined) throw new Error(`${path}:${at + 1} is the output of no program`)
      const shown = new Map<number, string>()
      const end = take('```', shown)
      draft.output = [...(draft.output ?? []), ...shown.values()]
      return end
    }
  }
  return drafts

  function draftFor(language: Draft['language'], meta: string, at: number): Map<number, string> {
    if (!['', 'no-run', 'continues'].includes(meta))
      throw new Error(`${path}:${at + 1}: what is "${language} ${meta}"?`)
    const last = drafts.at(-1)
    if (meta === 'continues' && last !== undefined) return last.lines
    const runs = language === 'ts' && meta !== 'no-run'
    const draft: Draft = { language, line: at + 1, lines: new Map(setup), runs, output: undefined }
    setup.clear()
    drafts.push(draft)
    return draft.lines
  }
}
