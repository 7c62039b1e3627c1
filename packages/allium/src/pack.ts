// For authors of layers: the options of a factory, keys of state, whose data a layer stores, and wrappers of runs and streams
export {
  type AroundRun,
  type AroundStep,
  addUsage,
  type DisplayContext,
  type DisplayTransform,
  type Erasure,
  estimateInputTokens,
  type FlowLabels,
  followSignal,
  type HookInfo,
  type HookRun,
  layerOptions,
  misconfigured,
  noUsage,
  type OnChunk,
  option,
  type Pipe,
  type StreamVerbs,
  sessionKeyOf,
  sum,
  type WrappedRun,
  type WrappedStep,
  type Writer,
  withState,
  writerOf,
} from '@allium/core'
export type { InputAbout, OnceOptions, OnInput } from '@allium/core/context'
export { digestOf } from '@allium/core/internal'
export { sharedStore } from '@allium/store'
