export { exitCodes } from './exit-codes.ts'
export { main } from './main.ts'
export type { Surroundings } from './surroundings.ts'
