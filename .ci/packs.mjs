// The packs as namespaces of one module, for tests from outside that look for them in `allium`.
export * as guard from '../packages/allium/dist/guard.js'
export * as hooks from '../packages/allium/dist/hooks.js'
export * as memory from '../packages/allium/dist/memory.js'
export * as model from '../packages/allium/dist/model.js'
export * as observe from '../packages/allium/dist/observe.js'
export * as tools from '../packages/allium/dist/tools.js'
