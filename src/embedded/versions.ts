/** What the embedded broker and registry are. The POM files beside this one pin the same versions; a test compares them. */
export const kafkaVersion = '4.3.0'
export const registryVersion = '2.6.13.Final'

/** How the data folder is laid out; raised when a later Duelog can no longer read an earlier folder. */
export const layoutVersion = 1

/** The oldest Java that both run on. */
export const javaVersionMin = 17
