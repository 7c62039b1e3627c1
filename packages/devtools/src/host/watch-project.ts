import { extname, relative } from 'node:path'
import { watch } from 'chokidar'

const extensions = new Set('.ts .mts .cts .tsx .js .mjs .cjs .jsx .json .yml .yaml .md .txt'.split(' '))
const ignoredFolders = /(?:^|[/\\])(?:node_modules|\.git|\.allium|dist|coverage|\.cache)(?:[/\\]|$)/

/** How long the files stay unchanged before a reload, in milliseconds. An editor may write several files at once. */
const quiet = 100

/** Calls `onChange` after source files or `.env` in the project's folder have changed. Returns a function that stops watching. */
export async function watchProject(
  cwd: string,
  onChange: (files: readonly string[]) => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined
  let changed = new Set<string>()
  const watcher = watch(cwd, {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const name = relative(cwd, path)
      if (ignoredFolders.test(name)) return true
      return stats?.isFile() === true && !extensions.has(extname(path)) && !name.startsWith('.env')
    },
  })
  watcher.on('all', (event, path) => {
    // A new folder has no code: the agent may have made it for its database.
    if (event === 'addDir' || event === 'unlinkDir') return
    changed.add(relative(cwd, path))
    clearTimeout(timer)
    timer = setTimeout(() => {
      const files = [...changed]
      changed = new Set()
      onChange(files)
    }, quiet)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}
