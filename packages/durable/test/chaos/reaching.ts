import type { Noting } from './notes.ts'
import type { Job, Reach } from './scene.ts'

/** The places between the commit of a turn and the report of its end, and right behind the report. */
const endPlaces = ['after append', 'before end', 'after end']

/** Counts the places that a process comes to, and stops it at that of the job. */
export function reaching({ stopAt, signal, atEnd }: Job, note: Noting): Reach {
  let places = 0
  return (label) => {
    if (atEnd && !endPlaces.includes(label)) return
    if (++places !== stopAt) return
    note({ what: 'stopped', label, signal })
    process.kill(process.pid, signal)
  }
}
