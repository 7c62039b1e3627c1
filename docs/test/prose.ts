import { TextlintKernel, TextlintKernelDescriptor } from '@textlint/kernel'
import markdown from '@textlint/textlint-plugin-markdown'
import terminology from 'textlint-rule-terminology'
import type { Page } from './pages.ts'

/** Terms that the docs no longer use, or that no English-speaking engineer would write, each with the one to write. */
const terms: readonly (readonly [pattern: string, term: string])[] = [
  ['deciders?', 'approver'],
  ['keepers?', 'session storage'],
  ['outlets?', 'output sink'],
  ['onShow', 'onDisplay'],
  ['mayDecide|canDecide', 'canApprove'],
  ['mayRead', 'canRead'],
  ['mayUse', 'canUse'],
  ['afterCrash', 'onInterrupted'],
  ['readerSilence', 'readerTimeout'],
  ['sessionIdle', 'sessionIdleTimeout'],
  ['abortGrace', 'gracePeriod'],
  ['misfits?', 'violation'],
  ['savings? of a session', 'stored session'],
  ['anew', 'again'],
  ['thereby', 'so'],
  ['hitherto', 'until now'],
  ['lest', 'so that … not'],
  ['whosoever|whoever', 'the person who'],
  ['somebody', 'the user, the process'],
  ['goes on with|go on with', 'continues'],
  ['is asked again|are asked again', 'is requested again'],
]

const kernel = new TextlintKernel()
const descriptor = new TextlintKernelDescriptor({
  plugins: [{ pluginId: '@textlint/markdown', plugin: interop(markdown) as never }],
  filterRules: [],
  rules: [
    {
      ruleId: 'terminology',
      rule: interop(terminology) as never,
      options: { defaultTerms: false, terms: terms.map(([pattern, term]) => [`\\b(?:${pattern})\\b`, term]) },
    },
  ],
})

/** The terms of a page that its readers should not meet, as `docs/guide/stores.md:7: …`. Code is left out. */
export async function wrongTerms({ path, lines }: Page): Promise<string[]> {
  const options = { ...descriptor.toKernelOptions(), filePath: path, ext: '.md' }
  const { messages } = await kernel.lintText(lines.join('\n'), options)
  return messages.map(({ loc, message }) => `${path}:${loc.start.line}: ${message}`)
}

/** A module in CommonJS has its export in `default` once more. */
function interop(module: unknown): unknown {
  return (module as { default?: unknown }).default ?? module
}

/** The lengths of the sentences of paragraphs, in words, from the shortest to the longest. */
export function sentenceLengths(pages: readonly Page[]): number[] {
  return pages
    .flatMap(({ lines }) => paragraphs(lines.join('\n')))
    .flatMap((paragraph) => paragraph.split(/[.!?]\s+(?=[A-Z`[])/))
    .map((sentence) => (sentence.match(/[A-Za-z'-]+/g) ?? []).length)
    .filter((words) => words > 2)
    .sort((a, b) => a - b)
}

/** The paragraphs of prose: no code, comments, tables, lists or headings. */
function paragraphs(text: string): string[] {
  const prose = text
    .replace(/```[\s\S]*?```/g, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/`[^`\n]*`/g, 'CODE')
    .replace(/\]\([^)]*\)/g, ']')
  return prose.split(/\n\s*\n/).filter((block) => block.trim() !== '' && !/^\s*(?:[#|>*-]|\d+\.)/.test(block))
}
