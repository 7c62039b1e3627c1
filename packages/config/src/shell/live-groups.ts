import { onExit } from 'signal-exit'
import { kill } from './kill-tree.ts'
import { markedNow } from './processes.ts'

/** Process groups that run now, by the marks of their processes. They do not belong to the terminal, so Ctrl-C does not reach them. */
const groups = new Map<string, number | undefined>()
let forget = () => {}

/** A process group that ends with this process. */
export interface Group {
  started(pid: number): void
  letGo(): void
}

/**
 * Kills a group, and the processes that left it, when this process ends: by itself, or by a signal that has no other handler.
 * Call it before the program is spawned: the program may run, and a signal arrive, before spawn() returns.
 */
export function endWithUs(mark: string): Group {
  if (groups.size === 0) forget = onExit(endAll)
  groups.set(mark, undefined)
  return {
    started: (pid) => void groups.set(mark, pid),
    letGo() {
      groups.delete(mark)
      if (groups.size === 0) forget()
    },
  }
}

function endAll(): void {
  for (const pid of groups.values()) if (pid !== undefined) kill(-pid, 'SIGKILL')
  for (const pid of markedNow([...groups.keys()])) kill(pid, 'SIGKILL')
}
