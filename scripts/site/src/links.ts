import { dirname, posix } from 'node:path'
import { mapProse } from './fences.ts'
import { type SitePage, urlOf } from './site-pages.ts'

export interface LinkTargets {
  /** The pages of the site by their path in the repository. */
  readonly pages: ReadonlyMap<string, SitePage>
  /** The web address of the repository, without a slash at its end. */
  readonly repository: string | undefined
  /** The ending of an address of a page: '' on the site, '.md' in its plain copies. */
  readonly ending: '' | '.md'
}

const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g

/** Makes each relative link of a page lead to the page on the site, to a copied image, or to the source in the repository. */
export function rewriteLinks(lines: readonly string[], from: string, targets: LinkTargets): string[] {
  const resolve = (path: string) => posix.normalize(posix.join(dirname(from), path)).replace(/\/$/, '')
  return mapProse(lines, (prose) =>
    prose
      .replace(link, (whole, image: string, text: string, href: string) => {
        if (/^([a-z]+:|#)/.test(href)) return whole
        const [path = '', heading] = href.split('#')
        const target = resolve(path)
        if (image) return `![${text}](${imageAt(target)})`
        const page = targets.pages.get(target) ?? targets.pages.get(`${target}/README.md`)
        if (page) return `[${text}](${addressOf(page, targets.ending)}${heading === undefined ? '' : `#${heading}`})`
        return targets.repository === undefined ? text : `[${text}](${targets.repository}/blob/main/${target})`
      })
      .replace(/<img src="([^":]+)"/g, (_, path: string) => `<img src="${imageAt(resolve(path))}"`),
  )
}

/** The pictures of docs/images are copied to /images. */
function imageAt(path: string): string {
  return `/${path.replace(/^docs\//, '')}`
}

function addressOf({ file }: SitePage, ending: '' | '.md'): string {
  return ending === '.md' ? `/${file}` : urlOf(file)
}
