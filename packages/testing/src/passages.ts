export type { PassageStoreParts } from './conformance/passages/passage-bench.ts'
export {
  type MakePassageStore,
  type PassageStoreConformanceOptions,
  passageStoreCases,
  passageStoreConformance,
} from './conformance/passages/passage-store-conformance.ts'
