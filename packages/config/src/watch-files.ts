import { type FSWatcher, readlinkSync, realpathSync, statSync, watch } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'

/** Milliseconds of rest after a change: editors write a file in several steps. */
const rest = 50

/** Calls `changed` when one of the files changes, is replaced, comes, or goes. It does not keep the process alive. */
export class FileWatch {
  readonly #changed: (file: string) => void
  readonly #folders = new Map<string, FSWatcher>()
  /** By file, what it was when its change was told. */
  readonly #told = new Map<string, string>()
  #seen = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  constructor(changed: (file: string) => void) {
    this.#changed = changed
  }

  /** Watches these files from now on. */
  watch(files: readonly string[]): void {
    const wanted = new Set(files)
    for (const file of this.#told.keys()) if (!wanted.has(file)) this.#told.delete(file)
    for (const file of wanted) if (!this.#told.has(file)) this.#told.set(file, stateOf(file))
    this.#listen()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#told.clear()
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  /** Folders tell more than files do: an editor, or Kubernetes, puts a new file or link in the place of the old one. */
  #listen(): void {
    const wanted = new Set([...this.#told.keys()].flatMap((file) => foldersOf(file)))
    for (const [folder, watcher] of this.#folders)
      if (!wanted.has(folder)) {
        watcher.close()
        this.#folders.delete(folder)
      }
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#open(folder)
  }

  #open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#soon())
      watcher.on('error', () => {
        watcher.close()
        if (this.#folders.get(folder) === watcher) this.#folders.delete(folder)
      })
      this.#folders.set(folder, watcher)
    } catch {} // there is no such folder yet
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#look(), rest).unref()
  }

  /** Tells of the files that differ from what was told, once they have been the same for a while. */
  #look(): void {
    this.#timer = undefined
    const now = new Map([...this.#told.keys()].map((file) => [file, stateOf(file)]))
    const changed = [...now].filter(([file, state]) => this.#told.get(file) !== state)
    const settled = changed.filter(([file, state]) => this.#seen.get(file) === state)
    this.#seen = now
    if (settled.length < changed.length) this.#soon()
    for (const [file, state] of settled) this.#told.set(file, state)
    if (changed.length > 0) this.#listen()
    for (const [file] of settled) this.#changed(file)
  }
}

/** What tells one state of a file from another, behind all links. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true })
    return `${realpathSync(file)} ${ino} ${size} ${mtimeNs}`
  } catch {
    return 'not there'
  }
}

/** The folders in which a file can be replaced: its own, and those of all links on the way to it. */
function foldersOf(file: string, links = 40): string[] {
  const { root } = parse(file)
  const parts = file.slice(root.length).split(sep)
  for (const [i] of parts.entries()) {
    const path = join(root, ...parts.slice(0, i + 1))
    const target = links > 0 ? linkAt(path) : undefined
    if (target === undefined) continue
    const behind = resolve(dirname(path), target, ...parts.slice(i + 1))
    return [dirname(path), ...foldersOf(behind, links - 1)]
  }
  return [dirname(file)]
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // no link, or nothing
  }
}
