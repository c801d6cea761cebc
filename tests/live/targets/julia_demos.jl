# SPDX-License-Identifier: MIT
# julia_demos.jl - three programs of many tasks; the first argument says which. Each says "ready"
# and goes on until its input ends.
#
# channel: 1,024 takers wait on a channel that a busy producer puts an item into, one each 10 ms of
# CPU time. Julia 1.5 wakes all of them for it.
# compute: 4,096 tasks compute and give way in turn, and one waits for them.
# storm: 65,536 tasks end at once, again and again: 1,024 begin, give way, and end.

# What ends it: a line, or the end of input.
const over = Ref(false)
ends() = @async (readline(); over[] = true)

function ready()
    ends()
    yield()
    println("ready")
    flush(stdout)
end

# --- channel

@noinline function taker(channel)
    while true
        take!(channel)
    end
end

# In microseconds, so that it spins as long where others use the CPU, too.
@noinline cpu_time() = ccall(:clock, Clong, ())

@noinline function produce(channel)
    while !over[]
        due = cpu_time() + 10_000
        while cpu_time() < due
        end
        put!(channel, 1)
        yield()
    end
end

function demo_channel()
    channel = Channel{Int}(1)
    for i in 1:1024
        @async taker(channel)
    end
    yield()
    ready()
    produce(channel)
end

# --- compute

@noinline function sum_of_sqrt()
    sum = 0.0
    for i in 1:typemax(Int)
        sum += sqrt(Float64(i))
        if i % 20_000 == 0
            yield()
            over[] && break
        end
    end
    sum
end

function demo_compute()
    workers = [@async sum_of_sqrt() for n in 1:4096]
    waiter = @async foreach(wait, workers)
    yield()
    ready()
    wait(waiter)
end

# --- storm

const count = Ref(0)

@noinline function flash()
    yield()
    count[] += 1
end

@noinline function storm()
    @sync for i in 1:1024
        @async flash()
    end
end

function demo_storm()
    ready()
    while !over[]
        foreach(_ -> storm(), 1:64)
    end
end

Dict("channel" => demo_channel, "compute" => demo_compute, "storm" => demo_storm)[ARGS[1]]()
