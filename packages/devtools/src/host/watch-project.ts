import { basename, extname, relative } from 'node:path'
import { watch } from 'chokidar'

const codeExtensions = new Set('.ts .mts .cts .tsx .js .mjs .cjs .jsx'.split(' '))
/** Prompts and configs, but also what tools write. */
const dataExtensions = new Set('.json .yml .yaml .md .txt'.split(' '))
const ignoredFolders = /(?:^|[/\\])(?:node_modules|\.git|\.allium|dist|coverage|\.cache)(?:[/\\]|$)/

/** How long the files stay unchanged before a reload, in milliseconds. An editor may write several files at once. */
const quiet = 100

/**
 * Calls `onChange` after source files or `.env` in the project's folder have changed. A data file counts only if it existed before:
 * otherwise an agent whose tool writes a file would interrupt its own turn. Returns a function that stops watching.
 */
export async function watchProject(
  cwd: string,
  onChange: (files: readonly string[]) => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined
  let changed = new Set<string>()
  let isReady = false
  const existing = new Set<string>()
  const watcher = watch(cwd, {
    ignored: (path, stats) => {
      const name = relative(cwd, path)
      return ignoredFolders.test(name) || (stats?.isFile() === true && !isCode(name) && !isData(name))
    },
  })
  watcher.on('all', (event, path) => {
    // A new folder has no code: the agent may have made it for its database.
    if (event === 'addDir' || event === 'unlinkDir') return
    const name = relative(cwd, path)
    if (!isReady) return existing.add(name)
    if (!isCode(name) && !existing.has(name)) return
    changed.add(name)
    clearTimeout(timer)
    timer = setTimeout(() => {
      const files = [...changed]
      changed = new Set()
      onChange(files)
    }, quiet)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  isReady = true
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

function isCode(name: string): boolean {
  return codeExtensions.has(extname(name)) || basename(name).startsWith('.env')
}

function isData(name: string): boolean {
  return dataExtensions.has(extname(name))
}
