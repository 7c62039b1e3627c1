import { relative, sep } from 'node:path'
import { watch } from 'chokidar'

/** The folders and files that reports and baselines are in. */
const places = /^(?:|\.allium|evals|\.allium\/evals(?:\/[^/]+\.json)?|evals\/[^/]+\.baseline\.json)$/

/** Calls `onChange` after a report or a baseline of the project was written or deleted. Returns a function that stops watching. */
export async function watchReports(cwd: string, onChange: () => void): Promise<() => Promise<void>> {
  const watcher = watch(cwd, {
    ignored: (path) => !places.test(relative(cwd, path).split(sep).join('/')),
    ignoreInitial: true,
    followSymlinks: false,
  })
  for (const event of ['add', 'change', 'unlink'] as const) watcher.on(event, onChange)
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return () => watcher.close()
}
