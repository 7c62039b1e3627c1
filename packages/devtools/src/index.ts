export { type Inspector, type InspectorOptions, startInspector } from './start-inspector.ts'
