import type { Noting } from './notes.ts'
import type { Job, Reach } from './scene.ts'

/** Counts the places that a process comes to, and stops it at that of the job. */
const endPlaces = ['after append', 'before told']

export function reaching({ stopAt, signal, atEnd }: Job, note: Noting): Reach {
  let places = 0
  return (label) => {
    if (atEnd && !endPlaces.includes(label)) return
    if (++places !== stopAt) return
    note({ what: 'stopped', label, signal })
    process.kill(process.pid, signal)
  }
}
