import { type FSWatcher, readlinkSync, realpathSync, statSync, watch } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'

/** The delay after a change in milliseconds, because editors write a file in several steps. */
const settleDelay = 50

/** Calls `onChange` when one of the files is changed, replaced, created or deleted. It does not keep the process alive. */
export class FileWatch {
  readonly #onChange: (file: string) => void
  readonly #folders = new Map<string, FSWatcher>()
  /** The last reported state of each file. */
  readonly #reported = new Map<string, string>()
  #lastSeen = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange
  }

  /** Watches these files from now on. */
  watch(files: readonly string[]): void {
    const watched = new Set(files)
    for (const file of this.#reported.keys()) if (!watched.has(file)) this.#reported.delete(file)
    for (const file of watched) if (!this.#reported.has(file)) this.#reported.set(file, stateOf(file))
    this.#listen()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#reported.clear()
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  /** Watches folders, because editors and Kubernetes replace a file or link instead of changing it. */
  #listen(): void {
    const watched = new Set([...this.#reported.keys()].flatMap((file) => foldersOf(file)))
    for (const [folder, watcher] of this.#folders)
      if (!watched.has(folder)) {
        watcher.close()
        this.#folders.delete(folder)
      }
    for (const folder of watched) if (!this.#folders.has(folder)) this.#open(folder)
  }

  #open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#schedulePoll())
      watcher.on('error', () => {
        watcher.close()
        if (this.#folders.get(folder) === watcher) this.#folders.delete(folder)
      })
      this.#folders.set(folder, watcher)
    } catch {} // the folder does not exist yet
  }

  #schedulePoll(): void {
    this.#timer ??= setTimeout(() => this.#poll(), settleDelay).unref()
  }

  /** Reports the files that differ from their last reported state, once they are stable. */
  #poll(): void {
    this.#timer = undefined
    const now = new Map([...this.#reported.keys()].map((file) => [file, stateOf(file)]))
    const changedFiles = [...now].filter(([file, state]) => this.#reported.get(file) !== state)
    const stable = changedFiles.filter(([file, state]) => this.#lastSeen.get(file) === state)
    this.#lastSeen = now
    if (stable.length < changedFiles.length) this.#schedulePoll()
    for (const [file, state] of stable) this.#reported.set(file, state)
    if (changedFiles.length > 0) this.#listen()
    for (const [file] of stable) this.#onChange(file)
  }
}

/** Returns a text that identifies the state of a file, with links followed. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true })
    return `${realpathSync(file)} ${ino} ${size} ${mtimeNs}`
  } catch {
    return 'not there'
  }
}

/** Returns the folders in which a file can be replaced: its own, and those of all links on its path. */
function foldersOf(file: string, links = 40): string[] {
  const { root } = parse(file)
  const parts = file.slice(root.length).split(sep)
  for (const [i] of parts.entries()) {
    const path = join(root, ...parts.slice(0, i + 1))
    const target = links > 0 ? linkAt(path) : undefined
    if (target === undefined) continue
    const linkTarget = resolve(dirname(path), target, ...parts.slice(i + 1))
    return [dirname(path), ...foldersOf(linkTarget, links - 1)]
  }
  return [dirname(file)]
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or it does not exist
  }
}
