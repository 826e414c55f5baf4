/** The places where programs run. For the network each place is a machine of its own. */

export const brokerPlaces = ['broker-1', 'broker-2', 'broker-3'] as const
export const schedulerPlaces = ['scheduler-1', 'scheduler-2', 'scheduler-3'] as const
export const workerPlaces = ['worker-1', 'worker-2'] as const
/** `outside` is the place of the drill itself: the client that defines jobs, the checker and `duelog audit`. */
export const places = [...brokerPlaces, 'registry', ...schedulerPlaces, 'api', ...workerPlaces, 'outside'] as const

export type BrokerPlace = (typeof brokerPlaces)[number]
export type SchedulerPlace = (typeof schedulerPlaces)[number]
export type WorkerPlace = (typeof workerPlaces)[number]
export type Place = (typeof places)[number]

/** The number of a broker in its cluster: 1 for `broker-1`. */
export const nodeIdOf = (place: BrokerPlace): number => Number(place.slice('broker-'.length))
export const brokerOf = (nodeId: number): BrokerPlace => `broker-${nodeId}` as BrokerPlace
export const othersThan = (place: Place): Place[] => places.filter((other) => other !== place)
