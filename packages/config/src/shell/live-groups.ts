import { kill } from './kill-tree.ts'

/** Process groups that run now. They are none of the terminal's, so that the end of this process must end them. */
const groups = new Set<number>()
const endAll = () => {
  for (const pid of groups) kill(-pid, 'SIGKILL')
}

/** Kills a group when this process ends, unless it is let go before. Gives what lets it go. */
export function endWithUs(pid: number): () => void {
  if (groups.size === 0) process.on('exit', endAll)
  groups.add(pid)
  return () => {
    groups.delete(pid)
    if (groups.size === 0) process.off('exit', endAll)
  }
}
