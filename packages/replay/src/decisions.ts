export { type Decision, DecisionList } from './decisions/decision-list.ts'
export { type DecisionSink, DecisionWatcher, endOf, type OpenHook } from './decisions/decision-watcher.ts'
