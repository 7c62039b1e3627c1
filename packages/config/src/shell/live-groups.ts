import { onExit } from 'signal-exit'
import { kill } from './kill-tree.ts'
import { markedNow } from './processes.ts'

/** Process groups that run now, with the marks of what they start. They are none of the terminal's: Ctrl-C does not reach them. */
const groups = new Map<number, string>()
let forget = () => {}

/**
 * Kills a group, and what has left it, when this process ends: by itself, or by a signal that nobody else takes care of.
 * Gives what lets it go.
 */
export function endWithUs(pid: number, mark: string): () => void {
  if (groups.size === 0) forget = onExit(endAll)
  groups.set(pid, mark)
  return () => {
    groups.delete(pid)
    if (groups.size === 0) forget()
  }
}

function endAll(): void {
  for (const pid of groups.keys()) kill(-pid, 'SIGKILL')
  for (const pid of markedNow([...groups.values()])) kill(pid, 'SIGKILL')
}
