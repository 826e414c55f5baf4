/**
 * Schedules that are legal and need long searches: rarely true, counted to thousands, chosen out of many, or with many
 * exclusions.
 */
const dayMs = 86_400_000
const zones = ['UTC', 'Europe/Paris', 'Australia/Lord_Howe', 'Africa/Casablanca']
const places = Array.from({ length: 200 }, (_, place) => place + 1).join(',')

/** The same index gives the same rule. No two rules are alike, so no cache helps. */
export function dearRule(index: number) {
  const [hour, minute, second] = [index % 24, index % 60, Math.floor(index / 60) % 60]
  const time = `BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=${second}`
  const dtstart = Date.UTC(2000, 0, 1 + (index % 1_000))
  const timezone = zones[index % zones.length] ?? 'UTC'
  const monthly = { rrule: `FREQ=MONTHLY;COUNT=10000;BYMONTHDAY=29;${time}` }
  const kinds = [
    monthly,
    { rrule: `FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;${time}` },
    {
      rrule: `FREQ=HOURLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU,SA;BYMINUTE=${minute};BYSECOND=${second}`,
      // In other time zones the rule is too rare to be legal.
      ...{ timezone: 'UTC', dtstart: 0 },
    },
    { rrule: `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;${time};BYSETPOS=${places}` },
    { rrule: `FREQ=DAILY;${time}`, exdates: Array.from({ length: 1_000 }, (_, day) => dtstart + day * 3 * dayMs) },
    { rrule: `FREQ=SECONDLY;INTERVAL=61;BYMINUTE=${minute};BYSECOND=${second};BYDAY=MO` },
  ]
  return { timezone, dtstart, ...(kinds[index % kinds.length] ?? monthly) }
}
