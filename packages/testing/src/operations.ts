export type { RunOperationsParts } from './conformance/operations/operations-bench.ts'
export {
  type MakeRunOperations,
  type RunOperationsConformanceOptions,
  runOperationsCases,
  runOperationsConformance,
} from './conformance/operations/run-operations-conformance.ts'
