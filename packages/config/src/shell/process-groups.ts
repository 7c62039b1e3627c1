import { onExit } from 'signal-exit'
import { kill } from './kill-tree.ts'
import { findMarked } from './processes.ts'

/** Running process groups, by marker. They do not belong to the terminal, so Ctrl-C does not reach them. */
const groups = new Map<string, number | undefined>()
let removeExitHandler = () => {}

/** A process group that ends with this process. */
export interface ProcessGroup {
  onStart(pid: number): void
  release(): void
}

/**
 * Kills a group, and processes that left it, when this process ends by itself or by a signal without another handler.
 * Call it before spawning the program, because the program may run, and a signal arrive, before spawn() returns.
 */
export function killWithParent(marker: string): ProcessGroup {
  if (groups.size === 0) removeExitHandler = onExit(killAll)
  groups.set(marker, undefined)
  return {
    onStart: (pid) => void groups.set(marker, pid),
    release() {
      groups.delete(marker)
      if (groups.size === 0) removeExitHandler()
    },
  }
}

function killAll(): void {
  for (const pid of groups.values()) if (pid !== undefined) kill(-pid, 'SIGKILL')
  for (const pid of findMarked([...groups.keys()])) kill(pid, 'SIGKILL')
}
