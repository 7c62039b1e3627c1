export * from '@allium/observe/otel'
