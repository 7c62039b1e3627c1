export { conflictOf, fenced, idTaken } from './conflicts.ts'
export type { Encrypt, SealedPlace } from './encrypt.ts'
export { checkKey, checkName } from './key.ts'
export { Sealer } from './sealer.ts'
export {
  partOf,
  type RecordRow,
  recordOf,
  rowsOf,
  type TurnRow,
  type TurnRows,
  turnOf,
  type WaitingRow,
} from './turn-row.ts'
