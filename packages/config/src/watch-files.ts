import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Milliseconds of rest after a change: editors write a file in several steps. */
const rest = 50

/** Calls `changed` when one of the files changes, or is replaced. It does not keep the process alive. */
export class FileWatch {
  readonly #changed: (file: string) => void
  readonly #folders = new Map<string, FSWatcher>()
  #files = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(changed: (file: string) => void) {
    this.#changed = changed
  }

  /** Watches these files from now on. Their folders are watched, because an editor may put a new file in the place of the old one. */
  watch(files: readonly string[]): void {
    this.#files = new Set(files)
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      if (this.#folders.has(folder)) continue
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#seen(folder, name))
      watcher.on('error', () => watcher.close())
      this.#folders.set(folder, watcher)
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  #seen(folder: string, name: string | null): void {
    const file = [...this.#files].find((file) => dirname(file) === folder && (name === null || basename(file) === name))
    if (file === undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#changed(file), rest).unref()
  }
}
