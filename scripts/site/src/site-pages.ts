import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPages, type Page, root } from '../../../docs/test/pages.ts'

/** A page of the repository and its place on the site. */
export interface SitePage extends Page {
  /** The path below the site's root, with `.md`: `guide/getting-started.md`. */
  readonly file: string
}

/** All pages that readers are sent to, in the order of the repository. */
export function sitePages(): SitePage[] {
  return findPages().map((page) => ({ ...page, file: fileOf(page.path) }))
}

/** The place of a page of the repository on the site: `docs/guide/x.md` is `guide/x.md`. */
function fileOf(path: string): string {
  const moved: Record<string, string> = {
    'README.md': 'readme.md',
    'docs/README.md': 'overview.md',
    'CONTRIBUTING.md': 'contributing.md',
  }
  return (
    moved[path] ??
    path
      .replace(/^docs\//, '')
      .replace(/^(packages|examples)\/([^/]+)\/README\.md$/, '$1/$2.md')
      .replace(/^benchmarks\/README\.md$/, 'benchmarks.md')
      .replace(/README\.md$/, 'index.md')
  )
}

/** The address of a page below the site's root, without `.md`. */
export function urlOf(file: string): string {
  return `/${file.replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}`
}

/**
 * The web address of the repository, for edit links and links to sources: the environment variable `ALLIUM_REPOSITORY`,
 * or else the `repository` of the root's package.json. Without one, the site shows the paths of sources as text.
 */
export function repositoryUrl(): string | undefined {
  if (process.env.ALLIUM_REPOSITORY) return process.env.ALLIUM_REPOSITORY.replace(/\/$/, '')
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository?: string }
  return repository?.replace(/\/$/, '')
}
