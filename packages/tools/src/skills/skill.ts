import type { Frontmatter } from './frontmatter.ts'

export interface Skill extends Frontmatter {
  /** The folder, absolute and with links resolved. */
  readonly folder: string
  /** The Markdown after the frontmatter. */
  readonly body: string
  /** The other files in the folder by their path from it, with their sizes in bytes. */
  readonly files: ReadonlyMap<string, number>
}
