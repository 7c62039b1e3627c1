export { type FunctionOptions, functionTool as function } from './function.ts'
