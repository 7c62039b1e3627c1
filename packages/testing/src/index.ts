export { type ManualClock, manualClock } from './manual-clock.ts'
export { type LayerRun, type RunLayerOptions, runLayer } from './run-layer.ts'
export { type RecordedRequest, type ScriptedModel, scriptedModel } from './scripted-model.ts'
export type { ScriptedAnswer, ScriptedReply, ScriptedStep, ScriptedToolCall } from './step.ts'
