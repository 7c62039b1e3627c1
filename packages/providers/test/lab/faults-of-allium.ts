import type { Fault } from './faults.ts'

/** What Allium gets wrong today: nothing that the lab knows. An entry without a wrong cell fails `npm run providers`. */
export const alliumFaults: readonly Omit<Fault, 'whose'>[] = []
