export * from '@allium/observe/prompt-cache'
