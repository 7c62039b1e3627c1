import { extname, relative } from 'node:path'
import { watch } from 'chokidar'

const extensions = new Set('.ts .mts .cts .tsx .js .mjs .cjs .jsx .json .yml .yaml .md .txt'.split(' '))
const ignoredFolders = /(?:^|[/\\])(?:node_modules|\.git|\.allium|dist|coverage|\.cache)(?:[/\\]|$)/

/** How long the files stay unchanged before a reload, in milliseconds. An editor may write several files at once. */
const quiet = 100

/** Calls `onChange` after a source file or `.env` in the project's folder has changed. Returns a function that stops watching. */
export async function watchProject(cwd: string, onChange: (file: string) => void): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(cwd, {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const name = relative(cwd, path)
      if (ignoredFolders.test(name)) return true
      return stats?.isFile() === true && !extensions.has(extname(path)) && !name.startsWith('.env')
    },
  })
  watcher.on('all', (_, path) => {
    clearTimeout(timer)
    timer = setTimeout(() => onChange(relative(cwd, path)), quiet)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}
