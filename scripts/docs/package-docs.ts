import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix, resolve } from 'node:path'
import type { Page } from '../../docs/test/pages.ts'
import { mapProse, plainFences } from '../site/src/fences.ts'
import { isShippedBy } from './shipped-pages.ts'

interface Manifest {
  readonly name: string
  readonly description: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
}

/** Writes the pages that a package ships about itself, and its AGENTS.md, into its folder. Git ignores them. */
export function writePackageDocs(folder: string, pages: readonly Page[]): void {
  const shipped = pages.filter(({ path }) => isShippedBy(basename(folder), path))
  rmSync(join(folder, 'docs'), { recursive: true, force: true })
  for (const page of shipped) {
    const file = join(folder, page.path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, plainPage(page, shipped))
  }
  writeFileSync(join(folder, 'AGENTS.md'), agentsFile(folder, shipped))
}

/** A page with whole programs, whose links lead to pages in the same package. Other links become text. */
function plainPage({ path, lines }: Page, shipped: readonly Page[]): string {
  const paths = new Set(shipped.map((page) => page.path))
  const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g
  const relinked = mapProse(plainFences(lines), (prose) =>
    prose.replace(link, (whole, image: string, text: string, href: string) => {
      if (/^([a-z]+:|#)/.test(href)) return whole
      const target = posix.normalize(posix.join(posix.dirname(path), href.split('#')[0] ?? ''))
      return image === '' && paths.has(target) ? whole : text
    }),
  )
  return relinked.join('\n')
}

/** Instructions for coding agents that use the package, in the format of https://agents.md. */
function agentsFile(folder: string, shipped: readonly Page[]): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const example = /^```ts.*\n[\s\S]*?^```$/m.exec(readme)?.[0].replace(/^```ts.*/, '```ts')
  const list = shipped.map(({ path, lines }) => `- [${title(lines)}](${path})`)
  return [
    `# ${manifest.name}`,
    `${manifest.description}. Part of Allium, onion middleware for AI agents. This file is for coding agents that use the package.`,
    ...(example === undefined ? [] : ['## Example', example]),
    ...(list.length === 0 ? [] : ['## Pages in this package', list.join('\n')]),
    '## Rules',
    rules(manifest).join('\n'),
    '',
  ].join('\n\n')
}

function rules({ name, exports = {}, bin = {} }: Manifest): string[] {
  const entries = Object.keys(exports).filter((entry) => !/internal|package\.json/.test(entry))
  const imports = entries.map((entry) => `\`${posix.join(name, entry)}\``).join(', ')
  return [
    ...(entries.length === 0 ? [] : [`- Import from ${imports}. Nothing else is public.`]),
    ...Object.keys(bin).map(
      (command) => `- Run it as \`npx ${command}\`. \`npx ${command} --help\` lists its options.`,
    ),
    '- Each export has a docstring with its defaults, units and errors. Read the types in `dist/*.d.ts` before you guess an option.',
    '- Unknown options are errors. Read the message: it names the nearest option.',
    '- A turn, session or agent layer calls `await next()` once. A model or tool layer returns the result of `next()`.',
    '- Do not write type arguments: state is inferred from the layers that `.use()` gets.',
    '- Test without a key: `scriptedModel` of `allium/testing` plays the model, and `layerConformance` checks a layer of your own.',
    '- Errors are `AlliumError`s with a `code`. `@allium/core/docs/concepts/errors.md` lists the codes, and `@allium/core/docs/reference/errors.md` the messages.',
  ]
}

function title(lines: readonly string[]): string {
  return (lines.find((line) => line.startsWith('# ')) ?? '').slice(2)
}

/** The folder of a package from its name below `packages`, or from a path. */
export function packageFolder(name: string): string {
  return name.includes('/') || name === '.' ? resolve(name) : resolve('packages', name)
}
