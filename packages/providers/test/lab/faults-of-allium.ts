import type { Fault } from './faults.ts'

/** What Allium gets wrong today. An entry without a wrong cell fails `npm run providers`. */
export const alliumFaults: readonly Omit<Fault, 'whose'>[] = [
  { rows: 'all', scenarios: ['names of tools'], note: 'A name that the provider does not take is sent as it is.' },
  {
    rows: 'all',
    scenarios: ['history of another provider', 'id used again'],
    note: 'Ids of calls and parts that another provider made are sent as they are.',
  },
  { rows: 'all', scenarios: ['cut', 'cut call'], note: 'A cut answer is not model.truncated.' },
  { rows: 'all', scenarios: ['error in the stream'], note: 'An error in the stream loses its message or status.' },
  { rows: 'all', scenarios: ['finish reasons'], note: 'A failure in the form of a finish reason is not retried.' },
  {
    rows: 'all',
    scenarios: ['output'],
    note: 'A schema with optional keys is sent as strict by packages that cannot turn strict off.',
  },
  { rows: 'all', scenarios: ['schemas of tools'], note: 'A tuple of draft-07 reaches a provider that takes none.' },
  {
    rows: ['Zhipu'],
    scenarios: ['call', 'call without arguments', 'two calls', 'odd id', 'images of tools', 'texts of tools'],
    note: 'A second start of an open call fails the run.',
  },
  { rows: ['Requesty'], scenarios: ['call without arguments'], note: 'A call without text of arguments fails.' },
]
