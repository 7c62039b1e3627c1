export { default } from '../../scripts/build/tsup.base.ts'
