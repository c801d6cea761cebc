# SPDX-License-Identifier: MIT
# julia_tasks.jl - 1,024 tasks that wait to take from a channel, 16 that have not begun, and one that
# has ended. It prints where they are; at each line that it is sent another half of them goes on
# and ends.
const channel = Channel{Int}(1)

@noinline deepest(channel) = take!(channel)
@noinline deeper(channel) = deepest(channel) + 1
@noinline deep(channel) = deeper(channel) + 1

address(task) = string(UInt(pointer_from_objref(task)), base = 16)

const takers = [@async deep(channel) for i in 1:1024]
const ended = @async nothing
wait(ended)
const unborn = [Task(() -> deep(channel)) for i in 1:16]
foreach(task -> println("taker ", address(task)), takers)
foreach(task -> println("unborn ", address(task)), unborn)
println("ended ", address(ended))
println("main ", address(current_task()))
println("ready")
flush(stdout)
for half in 1:2
    readline()
    for task in takers[(half - 1) * 512 + 1:half * 512]
        put!(channel, 1)
        wait(task)
        println("gone ", address(task))
    end
    println("ready")
    flush(stdout)
end
readline()
