import type { Noting } from './notes.ts'
import type { Job, Reach } from './scene.ts'

/** Counts the places that a process comes to, and stops it at that of the job. */
export function reaching({ stopAt, signal }: Job, note: Noting): Reach {
  let places = 0
  return (label) => {
    if (++places !== stopAt) return
    note({ what: 'stopped', label, signal })
    process.kill(process.pid, signal)
  }
}
