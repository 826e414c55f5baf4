/**
 * The long forms of tests: more histories, all points of a crash, more kills. `npm run test:long` runs them, by hand and before a release;
 * `npm test` runs the usual forms.
 */
export const isLong = process.env.DUELOG_TEST_LONG === '1'

/** What a test takes in its usual form, and in its long one. */
export const usually = <Scale>(usual: Scale, long: Scale): Scale => (isLong ? long : usual)
