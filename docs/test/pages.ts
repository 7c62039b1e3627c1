import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A markdown page of the repository. */
export interface Page {
  /** From the root, such as `docs/guide/getting-started.md`. */
  path: string
  lines: string[]
}

/** Everything that readers are sent to: the README files, CONTRIBUTING.md, and docs/. */
export function findPages(): Page[] {
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    ...under('docs'),
    ...readmes('packages'),
    ...readmes('examples'),
    'benchmarks/README.md',
  ]
  return paths.map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n') }))
}

/** The id of a heading, as GitHub makes it: `## Run it` is `run-it`. */
export function slug(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The folder whose dependencies a page's code may import. */
export function workspaceOf({ path }: Page): string {
  return join(root, path.startsWith('packages/') || path.startsWith('examples/') ? dirname(path) : 'docs')
}

function under(dir: string): string[] {
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = `${dir}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : under(path)
    return entry.name.endsWith('.md') ? [relative(root, join(root, path))] : []
  })
}

function readmes(dir: string): string[] {
  return readdirSync(join(root, dir), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readdirSync(join(root, dir, name)).includes('README.md') ? [`${dir}/${name}/README.md`] : [],
    )
}
